import { UsageError } from '../base/index.ts'
import { type ReportFormat, reportFormats } from '../chain/index.ts'

/** @throws {UsageError} that names the formats there are. */
export function findReportFormat(name: string): ReportFormat {
  const format = reportFormats.find((candidate) => candidate === name)
  if (format !== undefined) return format
  throw new UsageError({
    code: 'wrong-use',
    message: `--report ${name}: there is no such format`,
    hint: `Known are ${reportFormats.join(', ')}.`,
  })
}
