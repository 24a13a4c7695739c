// What the page gets, as JSON. Plain types, because the page knows nothing else of this program: they
// are those of `--json` where a command has one, and more beside it.

/** A diagnostic. */
export interface Finding {
  code: string
  severity: 'error' | 'warning' | 'info'
  message: string
  path: string
  line?: number | undefined
  hint?: string | undefined
}

/** Why there is no answer. */
export interface Failure {
  error: { code: string; message: string; hint?: string | undefined }
  diagnostics?: readonly Finding[] | undefined
}

export interface ProjectAnswer {
  project: string
  version: string
}

/** A text that may be long: its beginning, and how many characters it has. */
export interface LongText {
  text: string
  size: number
}

/** A piece of a long text. */
export interface TextAnswer {
  text: string
  /** Of the whole text, in characters. */
  size: number
  /** Where the next piece begins; undefined at the end. */
  next?: number | undefined
}
