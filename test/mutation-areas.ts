/**
 * What is mutated, and the tests that look at it. A test that starts processes of ours sees the
 * mutants in them, but is slow; in-process tests are preferred.
 */
export const mutationAreas: Readonly<Record<string, { sources: string[]; tests: string[] }>> = {
  trust: {
    sources: ['src/trust/!(lock*|check).ts'],
    // Not that of 20,000 files, which is too slow for every mutant.
    tests: ['test/trust/**/!(large-skill).test.ts'],
  },
  lock: {
    sources: ['src/trust/lock*.ts'],
    tests: ['test/trust/{lock*,link-digests,outside-skill,removed-while-read}.test.ts'],
  },
  chain: {
    sources: ['src/chain/{policy,attempt}.ts'],
    // Not arriving-results, which changes the working directory: a worker thread cannot.
    tests: [
      'test/chain/{attempt,gates,interpreter,nested,plan,plan-problems,policy}.test.ts',
      'test/chain/{state,step-options,whole-run}.test.ts',
    ],
  },
  trigger: {
    sources: ['src/trigger/{match,inject,pattern,parse-pattern}.ts'],
    // Not those that run thousands of random patterns for each mutant, or that start a process.
    tests: [
      'test/trigger/pattern{,-classes,-meaning,-limits}.test.ts',
      'test/trigger/{match,inject,check}.test.ts',
    ],
  },
  gate: {
    sources: ['src/tools/workflow/{gate,match,plan,session,session-file}.ts'],
    tests: ['test/workflow/**/*.test.ts'],
  },
  arguments: {
    sources: ['src/skill/arguments.ts'],
    tests: ['test/skill/arguments.test.ts'],
  },
}
