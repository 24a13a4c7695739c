import { UsageError } from '../base/index.ts'
import type { ServerAddress } from '../chain/restate/index.ts'
import type { CommandContext } from './command.ts'

export interface AddressOptions {
  url?: string | undefined
  adminUrl?: string | undefined
}

const ingressPort = '8080'
const adminPort = '9070'

/**
 * Where the Restate server is: options first, then `SKILLRAIL_RESTATE_URL` and
 * `SKILLRAIL_RESTATE_ADMIN_URL`, else this machine. `SKILLRAIL_RESTATE_TOKEN` is sent to both.
 */
export function serverAddress(
  { runtime }: Pick<CommandContext, 'runtime'>,
  options: AddressOptions = {},
): ServerAddress {
  const { env } = runtime
  const url = checked(
    options.url ?? env['SKILLRAIL_RESTATE_URL'] ?? `http://127.0.0.1:${ingressPort}`,
  )
  const admin = options.adminUrl ?? env['SKILLRAIL_RESTATE_ADMIN_URL']
  const token = env['SKILLRAIL_RESTATE_TOKEN']
  return {
    url: url.href,
    adminUrl: admin === undefined ? besides(url) : checked(admin).href,
    ...(token === undefined || token === '' ? {} : { token }),
  }
}

/** On the same machine, at the port that a server has by default. */
function besides(url: URL): string {
  const admin = new URL(url)
  admin.port = adminPort
  return admin.href
}

function checked(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new UsageError({
    code: 'wrong-use',
    message: `${text} is no address of a server`,
    hint: 'It looks like http://127.0.0.1:8080.',
  })
}
