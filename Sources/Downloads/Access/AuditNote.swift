/// Who asked for what. It contains no secrets.
public struct AuditNote: Sendable, Hashable {
    /// The identifier of the token, or `FETCHD_TOKEN`; nil without a token, or with one that is not known.
    public var caller: String?
    /// The name of the token.
    public var name: Name?
    /// The address that the request came from.
    public var address: String
    /// The method and the pattern of the path: `PUT /v1/sessions/{session}`.
    public var action: String
    /// What the path names, or what was created; nil if the request was refused before it was read.
    public var target: String?

    public init(caller: String?, name: Name?, address: String, action: String, target: String? = nil) {
        self.caller = caller
        self.name = name
        self.address = address
        self.action = action
        self.target = target
    }
}
