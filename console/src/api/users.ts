/** Users, keys and signed-in browsers; for owners. */

import type { Role } from "../account";
import { type Page, get, patch, post, remove } from "./client";

export interface User {
  id: string;
  name: string;
  role: Role;
  created: number;
  oidc: boolean;
}

export interface Credential {
  id: string;
  name: string;
  role: string;
  created: number;
  expires: number | null;
  used: number | null;
}

export const listUsers = (signal: AbortSignal): Promise<Page<User>> => get("/users", { signal });
export const addUser = (name: string, role: string): Promise<User> => post("/users", { name, role });
export const changeRole = (id: string, role: string): Promise<User> => patch(`/users/${id}`, { role });
export const removeUser = (id: string): Promise<void> => remove(`/users/${id}`);
export const makeLink = (id: string): Promise<{ link: string }> => post(`/users/${id}/link`, {});
export const listKeys = (signal: AbortSignal): Promise<Page<Credential>> => get("/keys", { signal });
export const addKey = (name: string, role: string): Promise<Credential & { key: string }> => post("/keys", { name, role });
export const removeKey = (id: string): Promise<void> => remove(`/keys/${id}`);
export const listSignIns = (signal: AbortSignal): Promise<Page<Credential & { user: string }>> => get("/sign-ins", { signal });
export const removeSignIn = (id: string): Promise<void> => remove(`/sign-ins/${id}`);
