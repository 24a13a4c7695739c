/** The seed of every random test. `vitest.config.ts` chooses it, and the default is the same in every run. */
export const testSeed = Number(process.env['SKILLRAIL_TEST_SEED'] ?? '1')
