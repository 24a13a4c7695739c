import { defineConfig } from 'vitest/config'

/** The exported script and completion under the shells of this machine: npm run test:shells. */
export default defineConfig({
  test: {
    include: ['test/trigger/*.suite.ts', 'test/cli/*.suite.ts'],
    globalSetup: ['test/own-temporary-directory.ts'],
    testTimeout: 20_000,
  },
})
