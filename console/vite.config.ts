import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Plugin, defineConfig, transformWithOxc } from "vite";

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

/** The scripts of the sandboxed frames. The hub puts each into its document, so each is one file without imports. */
function frameScripts(): Plugin {
  return {
    name: "frame-scripts",
    apply: "build",
    async generateBundle() {
      for (const frame of ["hooks", "agent", "net"]) {
        const path = new URL(`src/sandbox/frames/${frame}_frame.ts`, import.meta.url).pathname;
        const { code } = await transformWithOxc(readFileSync(path, "utf-8"), path, { target: "es2022", sourcemap: false });
        if (/^\s*(import|export)\b/m.test(code)) throw new Error(`${path} must not import or export anything`);
        this.emitFile({ type: "asset", fileName: `frame_${frame}.js`, source: code });
      }
    },
  };
}

export default defineConfig({
  base: "/static/",
  publicDir: false,
  plugins: [frameScripts(), gzipFiles()],
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
