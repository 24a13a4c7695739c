import type { ShownRun } from '../result.ts'
import { githubReport } from './github.ts'
import { htmlReport } from './html.ts'
import { junitReport } from './junit.ts'

/** The formats of `--report`. */
export const reportFormats = ['json', 'junit', 'github', 'html'] as const

export type ReportFormat = (typeof reportFormats)[number]

/** The result of a run as one document. */
export function renderReport(format: ReportFormat, result: ShownRun): string {
  return renderers[format](result)
}

const renderers: Record<ReportFormat, (result: ShownRun) => string> = {
  json: (result) => `${JSON.stringify(result, null, 2)}\n`,
  junit: junitReport,
  github: githubReport,
  html: htmlReport,
}
