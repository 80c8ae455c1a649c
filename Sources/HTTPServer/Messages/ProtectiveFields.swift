import HTTPTypes

/// The fields that every response has, unless it has its own value for them. They tell browsers not to guess a type, not
/// to run or frame the content, and not to tell other sites the URL; and caches not to keep it for others.
enum ProtectiveFields {
    static let all: [HTTPField] = [
        HTTPField(name: .xContentTypeOptions, value: "nosniff"),
        HTTPField(name: .contentSecurityPolicy, value: "default-src 'none'; frame-ancestors 'none'"),
        HTTPField(name: HTTPField.Name("Referrer-Policy")!, value: "no-referrer"),
        HTTPField(name: .cacheControl, value: "private, no-cache"),
    ]
}
