import { join } from 'node:path'
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
export const bin: string = place('cli/bin.ts', 'cli/bin.cjs')

/** The library, for programs that tests start. */
export const library: string = place('entries/index.ts', 'entries/index.js')

/** Of the sources, of what was built, or of the package where that is installed: the project `requirements` of `vitest.config.ts`. */
function place(source: string, built: string): string {
  const packed = process.env['SKILLRAIL_PACKED']
  if (packed !== undefined) return join(packed, 'dist', built)
  const path = fromSources ? `../src/${source}` : `../dist/${built}`
  return fileURLToPath(new URL(path, import.meta.url))
}
