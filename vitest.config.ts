import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/own-temporary-directory.ts', 'test/built.ts'],
    // None comes near it, on a slow machine either.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Most tests wait for processes: on two cores one worker leaves half of them idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    env: { NO_COLOR: '1' },
    coverage: {
      include: ['src/**/*.ts'],
    },
  },
})
