import { defineConfig } from 'vitest/config'

/** Real clients that are asked what they say of our hook: a part of npm run test:clients. */
export default defineConfig({
  test: {
    include: ['test/clients/*.suite.ts'],
    globalSetup: ['test/own-temporary-directory.ts', 'test/built.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    env: { NO_COLOR: '1' },
  },
})
