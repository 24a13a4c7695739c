export const permissionModes = ['default', 'plan', 'dont-ask'] as const

/**
 * How calls that need an approval are handled. `default`: the approver is asked. `plan`: only tools
 * that change nothing are offered. `dont-ask`: a call that needs an approval is refused.
 */
export type PermissionMode = (typeof permissionModes)[number]
