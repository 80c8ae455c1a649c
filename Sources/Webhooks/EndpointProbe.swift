import CurlClient
import Downloads
import HTTPSemantics

/// Asks whether the endpoint of a webhook can be reached. It sends no event, and neither path, query nor headers of the
/// webhook: `HEAD /` of its host.
public struct EndpointProbe: Sendable {
    private let client: CurlClient
    private let publicAddresses: AddressPolicy

    /// - Parameters:
    ///   - client: with the address policy of webhooks.
    ///   - publicAddresses: the addresses for webhooks of the reach `public`.
    public init(client: CurlClient, publicAddresses: AddressPolicy) {
        self.client = client
        self.publicAddresses = publicAddresses
    }

    /// - Returns: why the endpoint cannot be reached; nil if it answers, with any status.
    public func fault(of webhook: Webhook) async -> String? {
        let limit = Duration.seconds(10)
        var request = TransferRequest(
            url: URLRule.origin(of: webhook.url) + "/", method: "HEAD", userAgent: "fetchd-doctor",
            timeouts: .init(connect: limit, idle: limit, total: limit),
            tls: .init(
                caFile: webhook.tls.caFile, pinnedPublicKeys: webhook.tls.pinnedPublicKeys.values.flatMap(\.self),
                verifies: webhook.tls.verify))
        switch webhook.reach {
        case .any: break
        case .public: request.addressPolicy = publicAddresses
        }
        do throws(TransferError) {
            _ = try await client.exchange(request, bodyLimit: 1024)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
