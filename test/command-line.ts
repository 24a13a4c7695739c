import { fileURLToPath } from 'node:url'

const coverage = process.env['SKILLRAIL_TEST_COVERAGE']

/** What a process is told so that `npm run coverage` gathers what it reaches. */
export const coverageVariables: Record<string, string> =
  coverage === undefined ? {} : { NODE_V8_COVERAGE: coverage }

/** Coverage and mutants are of the sources, and an edit may not wait for a build. */
export const fromSources: boolean =
  coverage !== undefined || process.env['SKILLRAIL_TEST_SOURCES'] === '1'

/**
 * The command line that tests start: the built one, which users have and which starts six times as
 * fast; its sources with `SKILLRAIL_TEST_SOURCES=1` and where coverage is measured.
 */
export const bin: string = fileURLToPath(
  new URL(fromSources ? '../src/cli/bin.ts' : '../dist/cli/bin.cjs', import.meta.url),
)
