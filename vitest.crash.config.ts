import { defineConfig } from 'vitest/config'

/** Starts and kills many processes, or lets many write at once: npm run test:crash. */
export default defineConfig({
  test: {
    include: ['test/**/*.crash.ts'],
    globalSetup: ['test/own-temporary-directory.ts', 'test/built.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    env: { NO_COLOR: '1', SKILLRAIL_TEST_KILLS: process.env['SKILLRAIL_TEST_KILLS'] ?? '10' },
  },
})
