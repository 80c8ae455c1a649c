import Storage

/// The settings require an administrator's token, and there is none. The description says why, and what to do.
public struct TokenMissing: Error, CustomStringConvertible {
    public let description: String
}

extension DownloadService.Options {
    func requireToken(in store: Store) throws(TokenMissing) {
        guard let tokenDemand, api.token == nil else { return }
        guard store.tokens.admitsAdministrator(at: store.time.now) else {
            throw TokenMissing(description: tokenDemand)
        }
    }
}
