/// The keys of a store. One of them seals, and each of them opens what it has sealed.
public struct Keyring: Sendable {
    /// The key that seals.
    public let current: SealingKey
    private let keys: [String: SealingKey]

    /// - Parameter others: keys that only open. A key file has two keys while a rotation is under way.
    public init(current: SealingKey, others: [SealingKey] = []) {
        self.current = current
        keys = (others + [current]).reduce(into: [:]) { $0[$1.id] = $1 }
    }

    /// The same keys, with another one that seals.
    public func sealing(with key: SealingKey) -> Keyring { Keyring(current: key, others: all) }

    /// All keys, the current one first.
    public var all: [SealingKey] { [current] + keys.values.filter { $0.id != current.id }.sorted { $0.id < $1.id } }

    /// The result of opening a sealed value.
    public enum Opened: Sendable, Equatable {
        case text(String)
        /// The value was sealed with a key that is not in the ring.
        case keyMissing
        /// The value was changed or moved, or it is no sealed value.
        case refused
    }

    /// Seals a text for its place.
    public func seal(_ text: String, at place: SealedPlace) -> String {
        let nonce = AES256GCM.makeNonce()
        let box = AES256GCM.seal(Array(text.utf8), nonce: nonce, authenticating: place.bytes, with: current)
        return SealedText(keyID: current.id, nonce: nonce, box: box).text
    }

    public func open(_ sealed: some StringProtocol, at place: SealedPlace) -> Opened {
        guard let sealed = SealedText(sealed) else { return .refused }
        guard let key = keys[sealed.keyID] else { return .keyMissing }
        let text = AES256GCM.open(sealed.box, nonce: sealed.nonce, authenticating: place.bytes, with: key)
        return text.map { .text(String(decoding: $0, as: UTF8.self)) } ?? .refused
    }
}
