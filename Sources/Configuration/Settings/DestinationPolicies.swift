import CurlClient

/// Where downloads and webhooks may connect to.
public struct DestinationPolicies: Sendable {
    public let downloads: AddressPolicy
    /// The hosts and ports that downloads may be requested from.
    public let hosts: HostPolicy
    /// A receiver often runs on the same machine.
    public let webhooks: AddressPolicy
    /// For webhooks of limited reach.
    public let limitedWebhooks: AddressPolicy

    public init(_ settings: RunningSettings) {
        downloads = AddressPolicy(allowing: settings.allowedNetworks, denying: settings.deniedNetworks)
        hosts = settings.hosts
        webhooks = AddressPolicy(admitting: .allAddresses, denying: settings.deniedNetworks)
        limitedWebhooks = AddressPolicy(allowing: settings.webhookNetworks, denying: settings.deniedNetworks)
    }
}
