import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** They replace modules for the whole worker, so each of these files gets one of its own. */
const replacingModules = ['test/golden/**/*.test.ts', 'test/trust/removed-while-read.test.ts']

export default defineConfig({
  test: {
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
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: replacingModules,
          isolate: false,
        },
      },
      { extends: true, test: { name: 'own', include: replacingModules } },
    ],
  },
})
