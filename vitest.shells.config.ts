import { defineConfig } from 'vitest/config'

/** The exported script under the shells and awks of this machine: npm run test:shells. */
export default defineConfig({
  test: {
    include: ['test/trigger/*.suite.ts'],
    globalSetup: ['test/own-temporary-directory.ts'],
    testTimeout: 20_000,
  },
})
