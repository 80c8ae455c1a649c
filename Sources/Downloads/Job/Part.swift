/// The bytes had so far: an entity of its own, so that it can outlive the attempt and be handed on.
public struct Part: Sendable, Equatable {
    public var id: PartID
    /// Where the bytes came from.
    public var url: String
    public var validators: Validators
    /// Bytes of the whole representation; nil where no response told.
    public var size: Int64?
    /// A promise: that many bytes are on disk, synced, and belong to these validators.
    public var bytesDurable: Int64

    public init(id: PartID, url: String, validators: Validators, size: Int64?, bytesDurable: Int64) {
        self.id = id
        self.url = url
        self.validators = validators
        self.size = size
        self.bytesDurable = bytesDurable
    }
}
