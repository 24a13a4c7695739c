/** The scheme under which the skills extension addresses the files of skills (SEP-2640). */
const scheme = 'skill://'

/** Where a file of a skill is found; without a path its directory. */
export function skillUri(skill: string, path = ''): string {
  const segments = [skill, ...(path === '' ? [] : path.split('/'))]
  return `${scheme}${segments.map((segment) => encodeURIComponent(segment)).join('/')}`
}

/**
 * What a URI names, undefined for nothing. Nothing is tidied up: a URI with `..`, an empty part, an
 * encoded slash, a backslash or a control character names nothing.
 */
export function readSkillUri(uri: string): { skill: string; path: string } | undefined {
  if (!uri.startsWith(scheme)) return undefined
  const segments = uri.slice(scheme.length).split('/').map(decoded)
  if (segments.some((segment) => segment === undefined || !isName(segment))) return undefined
  const [skill = '', ...rest] = segments.map((segment) => segment ?? '')
  return { skill, path: rest.join('/') }
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

function isName(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..' && !/[/\\\p{Cc}]/u.test(segment)
}
