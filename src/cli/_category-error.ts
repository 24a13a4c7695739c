import { exitCode, type ExitCode, nearest } from '../base/index.ts'
import { ToolError } from '../tools/index.ts'

/** No tool here is in this category. Exit code 3. */
export class CategoryNotFoundError extends ToolError {
  constructor(name: string, known: readonly string[]) {
    const meant = nearest(name, known)
    const list = `There are: ${known.join(', ')}.`
    super({
      code: 'category-not-found',
      message: `No tool here is in a category ${name}`,
      hint: meant === undefined ? list : `Did you mean ${meant}? ${list}`,
    })
  }

  override get exitCode(): ExitCode {
    return exitCode.notFound
  }
}
