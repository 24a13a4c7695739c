// Joins the validator and the YAML reader that it needs into one file of the skill creating-skills.
import { readFileSync } from 'node:fs'
import { rolldown } from 'rolldown'

const head = `#!/usr/bin/env node
// Usage: node quick_validate.mjs DIRECTORY…
// Says whether the skill in each directory is valid, as \`skillrail validate\` does, without anything
// installed: this one file can be copied anywhere. Needs Node 20 or newer. Exit code 0: all valid; 1: one
// is not; 2: wrong use. Generated from the sources of Skillrail: \`npm run generate\`.
// It contains js-yaml:
`

/** @returns {Promise<{ path: string, text: string }>} */
export async function quickValidate() {
  const build = await rolldown({
    input: 'src/skill/quick-validate.ts',
    platform: 'node',
    external: /^node:/,
    treeshake: {
      moduleSideEffects: (id) => id.endsWith('/quick-validate.ts'),
      propertyReadSideEffects: false,
      unknownGlobalSideEffects: false,
    },
  })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false })
  await build.close()
  if (output.length !== 1) throw new Error(`the validator is ${output.length} files instead of one`)
  const license = readFileSync('node_modules/js-yaml/LICENSE', 'utf8').trim()
  const notice = license
    .split('\n')
    .map((line) => `// ${line}`.trimEnd())
    .join('\n')
  return {
    path: 'skills/creating-skills/scripts/quick_validate.mjs',
    text: `${head}//\n${notice}\n\n${output[0].code.trimEnd()}\n`,
  }
}
