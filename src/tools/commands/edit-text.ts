import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { diagnosticText } from '../../core/diagnostic.ts'
import { messageOf, SkillrailError, UsageError } from '../../core/errors.ts'
import { linesText } from '../../core/text.ts'
import type { ToolContext } from './project-tools.ts'

const comment = '// '

export const editedFile = 'workflow.json'

/**
 * Lets a user edit a text until `accept` takes it. An error is shown above the text, which is
 * opened again. When the user gives up, the file stays and is named. Throws {@link UsageError} in a
 * non-interactive shell without VISUAL or EDITOR.
 */
export async function editText<T>(
  context: Pick<ToolContext, 'runtime' | 'interactive' | 'note'>,
  text: string,
  accept: (text: string) => T,
): Promise<T> {
  const editor = editorOf(context)
  const path = join(mkdtempSync(join(tmpdir(), 'skillrail-')), editedFile)
  const kept = `What was edited is in ${path}.`
  writeFileSync(path, text, { mode: 0o600 })
  for (let before = withoutComments(text); ;) {
    await open(editor, path, kept)
    const edited = withoutComments(readFileSync(path, 'utf8'))
    try {
      const accepted = accept(edited)
      rmSync(dirname(path), { recursive: true })
      return accepted
    } catch (error) {
      if (!(error instanceof SkillrailError)) throw error
      const said = errorText(error)
      context.note(said)
      if (edited === before) {
        throw new SkillrailError({
          code: 'edit-given-up',
          message: 'the text was left as it was, with its errors; nothing was written',
          hint: kept,
          cause: error,
        })
      }
      const lines = [...said.split('\n'), 'Lines are counted from the one below this.']
      writeFileSync(path, linesText(lines.map((line) => comment + line)) + edited)
      before = edited
    }
  }
}

function errorText({ message, diagnostics, hint }: SkillrailError): string {
  return [
    `skillrail: ${message}`,
    ...diagnostics.map((found) => `  ${diagnosticText(found, (_format, text) => text)}`),
    ...(hint === undefined ? [] : [hint]),
  ].join('\n')
}

function editorOf({ runtime, interactive }: Parameters<typeof editText>[0]): string {
  const named = runtime.env['VISUAL'] || runtime.env['EDITOR']
  if (named) return named
  if (!interactive) {
    throw new UsageError({
      code: 'no-terminal',
      message: 'there is no terminal to open an editor at',
      hint: 'Describe the workflow with --description, --category, --tool, --keyword, --step and --mode, or set EDITOR.',
    })
  }
  return runtime.platform === 'win32' ? 'notepad' : 'vi'
}

async function open(editor: string, path: string, hint: string): Promise<void> {
  const [file = '', ...args] = editor.trim().split(/\s+/)
  const child = spawn(file, [...args, path], { stdio: 'inherit' })
  let code: number | null
  try {
    ;[code] = await once(child, 'close')
  } catch (error) {
    throw new UsageError({
      code: 'editor-failed',
      message: `the editor ${file} cannot be started: ${messageOf(error)}`,
      hint: 'Set EDITOR to a program that exists.',
    })
  }
  if (code === 0) return
  const message = `the editor ${file} ended with ${code ?? 'a signal'}; nothing was written`
  throw new SkillrailError({ code: 'editor-failed', message, hint })
}

function withoutComments(text: string): string {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => !line.startsWith(comment))
  return lines.slice(first === -1 ? lines.length : first).join('\n')
}
