import Base
import Foundation

/// The server's side of Digest authentication (RFC 7616, `qop=auth`), written from the RFC.
public struct OriginDigest: Sendable {
    public enum Algorithm: String, Sendable {
        case md5 = "MD5"
        case sha256 = "SHA-256"
    }

    private let username: String
    private let password: String
    private let algorithm: Algorithm
    private let staleNonces: Int
    private let realm = "a realm, with a comma"

    /// - Parameter staleNonces: the number of nonces that are stale when they come back, and are replaced.
    public init(_ username: String, _ password: String, algorithm: Algorithm = .md5, staleNonces: Int = 0) {
        self.username = username
        self.password = password
        self.algorithm = algorithm
        self.staleNonces = staleNonces
    }

    /// The challenge to a request; nil if the request proves the password.
    func challenge(to request: RecordedRequest) -> String? {
        let answers = request.headers("Authorization")
        guard answers.count == 1, let fields = Self.fields(of: answers[0]), let nonce = fields["nonce"],
            let generation = Int(nonce.dropFirst("nonce-".count)),
            fields["response"] == response(to: request, fields, nonce: nonce)
        else { return challenge(nonce: 0, isStale: false) }
        return generation < staleNonces ? challenge(nonce: generation + 1, isStale: true) : nil
    }

    private func challenge(nonce: Int, isStale: Bool) -> String {
        #"Digest realm="\#(realm)", qop="auth", algorithm=\#(algorithm.rawValue), nonce="nonce-\#(nonce)""#
            + (isStale ? ", stale=true" : "")
    }

    private func response(to request: RecordedRequest, _ fields: [String: String], nonce: String) -> String? {
        guard fields["username"] == username, fields["realm"] == realm, fields["uri"] == request.target,
            let count = fields["nc"], let cnonce = fields["cnonce"], fields["qop"] == "auth"
        else { return nil }
        let who = hash("\(username):\(realm):\(password)")
        let what = hash("\(request.method):\(request.target)")
        return hash("\(who):\(nonce):\(count):\(cnonce):auth:\(what)")
    }

    private func hash(_ text: String) -> String {
        switch algorithm {
        case .md5: HashFunction.md5.hash(Array(text.utf8)).hexadecimal
        case .sha256: HashFunction.sha256.hash(Array(text.utf8)).hexadecimal
        }
    }

    /// Parses `Digest name="value", name=value`; commas in quotes are part of the value.
    private static func fields(of header: String) -> [String: String]? {
        guard header.hasPrefix("Digest ") else { return nil }
        var fields: [String: String] = [:]
        var rest = header.dropFirst("Digest ".count)
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].drop { $0 == "," || $0 == " " }
            rest = rest[rest.index(after: equals)...]
            let isQuoted = rest.first == "\""
            if isQuoted { rest = rest.dropFirst() }
            let value = rest.prefix { isQuoted ? $0 != "\"" : $0 != "," }
            rest = rest.dropFirst(value.count + 1)
            fields[String(name)] = String(value)
        }
        return fields
    }
}

/// The encoding of Basic credentials.
func base64(_ text: String) -> String {
    Data(text.utf8).base64EncodedString()
}
