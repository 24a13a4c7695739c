import { type Diagnostic, errorsIn, exitCode, type ExitCode, SkillrailError } from './errors.ts'

/** Invalid settings: their restrictions are unknown, so every command that they could restrict is refused. */
export class SettingsError extends SkillrailError {
  override readonly exitCode: ExitCode = exitCode.refused

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = errorsIn(diagnostics)
    const places = new Set(errors.map(({ path }) => path))
    super({
      code: 'settings-invalid',
      message: `The settings in ${[...places].join(', ')} have errors, so what they restrict is not known.`,
      hint: 'Fix them; skillrail doctor shows what is left.',
      diagnostics: errors,
    })
  }
}
