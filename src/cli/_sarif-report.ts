import { type Diagnostic, type SarifRule, sarifLog } from '../base/index.ts'
import type { CommandContext } from './command.ts'
import { packageVersion } from '../base/runtime.ts'

/** Prints findings as one SARIF document, with paths relative to the working directory. */
export function printSarif(
  { output, runtime }: CommandContext,
  rules: readonly SarifRule[],
  diagnostics: readonly Diagnostic[],
): void {
  const tool = { name: 'Skillrail', version: packageVersion(), rules }
  output.json(sarifLog(tool, diagnostics, runtime.cwd))
}
