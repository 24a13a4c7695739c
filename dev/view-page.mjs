// Joins the page of `skillrail view`: one HTML text with its styles and its script inside.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const source = fileURLToPath(new URL('../src/view/page', import.meta.url))

/** @returns {Promise<string>} */
export async function viewPage() {
  const build = await rolldown({
    input: join(source, 'main.tsx'),
    platform: 'browser',
  })
  const { output } = await build.generate({ format: 'iife', minify: true })
  await build.close()
  const [{ code }] = output
  const style = readFileSync(join(source, 'page.css'), 'utf8')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
  // They are found by their tags when the policy of the page is made.
  if (/<\/?(?:script|style)/i.test(code + style)) throw new Error('a tag in the script of the page')
  return readFileSync(join(source, 'page.html'), 'utf8')
    .replace('<style></style>', () => `<style>${style.trim()}</style>`)
    .replace('<script></script>', () => `<script>${code.trim()}</script>`)
}
