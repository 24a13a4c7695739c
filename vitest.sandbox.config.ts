import { defineConfig } from 'vitest/config'

/** Tries to get out of a real sandbox; needs bubblewrap: npm run test:sandbox. */
export default defineConfig({
  test: {
    include: ['test/sandbox/*.suite.ts'],
    globalSetup: ['test/own-temporary-directory.ts', 'test/built.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    env: { NO_COLOR: '1' },
  },
})
