// `console`: its methods write to the log.
log => ({
  names: {
    console: {
      log, info: log, debug: log, warn: log, error: log, trace: log, dir: log, table: log, group: log,
      groupEnd() {},
      assert(holds, ...said) { if (!holds) log("Assertion failed:", ...said); },
    },
  },
})
