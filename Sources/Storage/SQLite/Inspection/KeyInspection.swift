import Sealing

/// The keys of a service, read without making one.
struct KeyInspection {
    private let keys: Result<[SealingKey]?, KeyError>

    init(_ source: KeySource, _ folder: String) {
        keys = Result { () throws(KeyError) in try source.keys(inDataFolder: folder) }
    }

    func finding(_ db: SQLConnection) throws -> DatabaseInspection.KeyFinding {
        let check = try KeyCheck(db)
        switch keys {
        case .failure(let error): return .unusable(error.description)
        case .success(nil): return check == nil ? .notYetUsed : .missing(try LostSecrets(db))
        case .success(let keys?):
            guard let check else { return .notYetUsed }
            return keys.contains(where: check.fits) ? .fits : .wrong
        }
    }

    /// The keys; empty if there are none, or if they cannot be read.
    var given: [SealingKey] { (try? keys.get()) ?? [] }

    /// Opens what the keys have sealed. Without a key it opens nothing.
    var ring: Keyring { Keyring(current: given.first ?? .random(), others: given) }
}
