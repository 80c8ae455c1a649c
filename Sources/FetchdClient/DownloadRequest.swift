import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What to download, and how. Only the URL is required.
public struct DownloadRequest: Sendable, Equatable, Codable {
    public enum Priority: String, Sendable, Codable { case low, normal, high }
    public enum ConflictRule: String, Sendable, Codable { case rename, error, replace }
    /// `whole`: until the file is verified. `auto`: a window of it, while the first bytes are sent.
    public enum Staging: String, Sendable, Codable { case auto, whole }

    /// Where the file goes on the machine of the service.
    public struct Destination: Sendable, Equatable, Codable {
        /// The place where the file goes, as the service declares it. Nil means that of the session.
        public var location: String?
        /// A folder below that of the location. Nil means the folder of the session.
        public var directory: String?
        /// A name, or a template such as `{host}-{suggested_filename}`. Nil means the suggested name.
        public var filename: String?
        /// What happens if the name is taken. Nil means the rule of the session, which renames by default.
        public var onConflict: ConflictRule?
        /// What the disk keeps of a file whose location is a bucket. Nil means `auto`.
        public var staging: Staging?

        public init(
            location: String? = nil, directory: String? = nil, filename: String? = nil,
            onConflict: ConflictRule? = nil, staging: Staging? = nil
        ) {
            self.staging = staging
            self.location = location
            self.directory = directory
            self.filename = filename
            self.onConflict = onConflict
        }
    }

    /// A digest that the file must have.
    public struct Checksum: Sendable, Equatable, Codable {
        /// `sha-256`, `sha-512`, `sha-1` or `md5`.
        public var algorithm: String
        public var value: String

        public init(algorithm: String, value: String) {
            self.algorithm = algorithm
            self.value = value
        }
    }

    public var url: String
    /// Nil means GET.
    public var method: String?
    public var headers: [String: String]?
    /// The body of a POST, PUT or PATCH. Set `form` instead for parameters.
    public var body: String?
    /// Parameters of a POST, PUT or PATCH, sent as `application/x-www-form-urlencoded`.
    public var form: [String: String]?
    public var credentials: Credential?
    public var destination: Destination?
    public var checksum: Checksum?
    public var priority: Priority?
    /// Over how many connections, from 1 to 16.
    public var connections: Int?
    public var notBefore: Date?
    /// The job is found by these tags, in addition to the one that the client sets.
    public var tags: [String]?
    /// Stored with the job and returned with it.
    public var metadata: [String: String]?

    public init(url: URL) { self.url = url.absoluteString }

    /// Takes URL, method, headers and body of a request of Foundation. The body must be text.
    public init(_ request: URLRequest) throws(FetchdError) {
        guard let url = request.url else { throw .invalid("The request has no URL.") }
        self.url = url.absoluteString
        method = request.httpMethod.flatMap { $0 == "GET" ? nil : $0 }
        headers = request.allHTTPHeaderFields.flatMap { $0.isEmpty ? nil : $0 }
        guard let data = request.httpBody else { return }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw .invalid("The body of the request is not text in UTF-8.")
        }
        body = text
    }
}

extension DownloadRequest {
    /// nil if the address is not one of Foundation.
    var urlRequest: URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = method ?? "GET"
        request.allHTTPHeaderFields = headers
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }
}

/// How a download proves to its server who asks. The service never shows it.
public enum Credential: Sendable, Equatable {
    case basic(username: String, password: String)
    case digest(username: String, password: String)
    case bearer(token: String)
}

extension Credential: Codable {
    private enum Name: String, CodingKey { case type, username, password, token }
    private enum Kind: String, Codable { case basic, digest, bearer }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        func text(_ name: Name) throws -> String { try container.decode(String.self, forKey: name) }
        self =
            switch try container.decode(Kind.self, forKey: .type) {
            case .basic: .basic(username: try text(.username), password: try text(.password))
            case .digest: .digest(username: try text(.username), password: try text(.password))
            case .bearer: .bearer(token: try text(.token))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        let (kind, texts): (Kind, [Name: String]) =
            switch self {
            case .basic(let username, let password): (.basic, [.username: username, .password: password])
            case .digest(let username, let password): (.digest, [.username: username, .password: password])
            case .bearer(let token): (.bearer, [.token: token])
            }
        var container = encoder.container(keyedBy: Name.self)
        try container.encode(kind, forKey: .type)
        for (name, text) in texts { try container.encode(text, forKey: name) }
    }
}
