import { linkSync, unlinkSync } from 'node:fs'
import { type Runtime, systemCode } from '../../base/index.ts'

/** Renames a corrupt file to one that is not there yet, `tools.json.corrupt-DATE`; returns its path. */
export async function moveAside(path: string, runtime: Runtime): Promise<string> {
  const date = new Date(runtime.now()).toISOString().slice(0, 19).replaceAll(':', '')
  for (let number = 1; ; number++) {
    const aside = `${path}.corrupt-${date}${number === 1 ? '' : `-${number}`}`
    try {
      // A link, unlike a rename, never replaces what is there.
      linkSync(path, aside)
      unlinkSync(path)
      return aside
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
  }
}
