/**
 * What is mutated, and the tests that look at it. A test that starts processes of ours sees the
 * mutants in them, but is slow; those of the rooms themselves are preferred.
 */
export const mutationAreas: Readonly<Record<string, { sources: string[]; tests: string[] }>> = {
  trust: {
    sources: ['src/trust/**/*.ts'],
    tests: ['test/trust/**/*.test.ts'],
  },
  chain: {
    sources: [
      'src/chain/policy.ts',
      'src/chain/check-policy.ts',
      'src/chain/interpreter.ts',
      'src/chain/state.ts',
    ],
    tests: ['test/chain/{interpreter,nested,state,plan}.test.ts'],
  },
  trigger: {
    sources: [
      'src/trigger/{match,prompt-text,inject,pattern,parse-pattern,pattern-classes,pattern-plan}.ts',
      'src/trigger/_{linear,pattern-atoms,run-program,test-program,simplify,quick-scan,required-text,to-javascript,plain-text}.ts',
    ],
    tests: ['test/trigger/{pattern,quick-scan,inject,check,portable-triggers}.test.ts'],
  },
  gate: {
    sources: [
      'src/workflow/{run-gate,match,plan,plan-step,scope,keywords,after-call,session-state,resolve-params,tool-names}.ts',
    ],
    tests: ['test/workflow/{gate,match,session,sql-tables,check-workflows}.test.ts'],
  },
  arguments: {
    sources: ['src/skill/arguments.ts'],
    tests: ['test/skill/arguments.test.ts'],
  },
}
