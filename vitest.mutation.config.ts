import { defineConfig } from 'vitest/config'
import { mutationAreas } from './test/mutation-areas.ts'

const area = mutationAreas[process.env['SKILLRAIL_MUTATION_AREA'] ?? '']

/** The tests of one area, for `npm run mutation`. */
export default defineConfig({
  test: {
    include: area?.tests ?? [],
    globalSetup: ['test/own-temporary-directory.ts'],
    testTimeout: 20_000,
    env: { NO_COLOR: '1', SKILLRAIL_TEST_SOURCES: '1' },
  },
})
