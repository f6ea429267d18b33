import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Plugin, defineConfig } from "vite";

const OUT = new URL("../src/hookline/hub/console_files/", import.meta.url).pathname;

/** The hub sends these as they are, so it never compresses anything itself. */
function gzipFiles(): Plugin {
  return {
    name: "gzip-files",
    apply: "build",
    closeBundle() {
      for (const entry of readdirSync(OUT, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile() && /\.(js|css|html|svg)$/.test(path)) {
          writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
        }
      }
    },
  };
}

export default defineConfig({
  base: "/static/",
  publicDir: false,
  plugins: [gzipFiles()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2022",
    assetsDir: ".",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: "libraries", test: /node_modules[\\/](preact|@preact|socket\.io|engine\.io|@socket\.io)/ }] },
      },
    },
  },
  test: { environment: "happy-dom", include: ["test/**/*.test.ts", "test/**/*.test.tsx"] },
});
