import { defineConfig } from 'vitest/config'

/** Runs on a real Restate server, with real workers: npm run test:restate. */
export default defineConfig({
  test: {
    include: ['test/restate/*.suite.ts'],
    globalSetup: ['test/own-temporary-directory.ts', 'test/built.ts'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
    env: { NO_COLOR: '1' },
  },
})
