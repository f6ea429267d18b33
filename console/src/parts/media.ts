import { signal } from "@preact/signals";

const query = window.matchMedia("(max-width: 760px)");

export const isPhone = signal(query.matches);
query.addEventListener("change", () => {
  isPhone.value = query.matches;
});
