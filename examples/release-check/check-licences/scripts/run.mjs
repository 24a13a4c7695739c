import { readFileSync } from 'node:fs'

const allowed = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'PSF-2.0',
])
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const shipped = Object.entries(packages).filter(
  ([path, entry]) => path !== '' && !entry.dev && !entry.optional,
)
const refused = shipped
  .map(([path]) => JSON.parse(readFileSync(`${path}/package.json`, 'utf8')))
  .filter(({ license }) => !alternatives(license).some((one) => allowed.has(one)))

console.log(
  JSON.stringify({
    status: refused.length === 0 ? 'success' : 'failure',
    result: `${shipped.length} runtime dependencies, ${refused.length} with a licence that is not allowed`,
    errors: refused.map(({ name, license }) => `${name} is licensed ${license}`),
    metrics: { dependencies: shipped.length },
  }),
)

// `(AFL-2.1 OR BSD-3-Clause)` may be used under either.
function alternatives(license) {
  return String(license).replaceAll(/[()]/g, '').split(' OR ')
}
