import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Writes the values that several requests have.
extension [HeaderField] {
    var request: JSON { .object(reduce(into: JSONObject()) { $0[$1.name] = .string($1.value) }) }
}

extension RequestBody {
    var member: (name: String, value: JSON) {
        switch self {
        case .text(let text): ("body", .string(text))
        case .form(let fields):
            ("form", .object(fields.reduce(into: JSONObject()) { $0[$1.name] = .string($1.value) }))
        case .json(let text): ("json", (try? JSON(parsing: Array(text.utf8))) ?? .null)
        }
    }
}

extension Credentials {
    var request: JSON {
        switch self {
        case .basic(let username, let password), .digest(let username, let password):
            ["type": .string(scheme), "username": .string(username), "password": .string(password)]
        case .bearer(let token): ["type": .string(scheme), "token": .string(token)]
        }
    }
}

extension Destination {
    var request: JSON {
        var object = JSONObject()
        object["directory"] = directory.map(JSON.string)
        object["filename"] = filename.map(JSON.string)
        object["on_conflict"] = onConflict.map { .string($0.rawValue) }
        if !createDirectories { object["create_directories"] = false }
        return .object(object)
    }
}

extension Timeouts {
    var request: JSON {
        var object = JSONObject()
        object["request_seconds"] = requestSeconds.map(JSON.number)
        object["connect_seconds"] = connectSeconds.map(JSON.number)
        object["resource_seconds"] = resourceSeconds.map(JSON.number)
        return .object(object)
    }
}

extension RetryPolicy {
    var request: JSON {
        [
            "max_attempts": .count(maxAttempts), "base_seconds": .number(baseSeconds),
            "max_seconds": .number(maxSeconds),
        ]
    }
}

extension TLSRule {
    var request: JSON {
        var object = JSONObject()
        object["ca_file"] = caFile.map(JSON.string)
        if !pinnedPublicKeys.isEmpty {
            object["pinned_public_keys"] = .object(
                pinnedPublicKeys.sorted { $0.key < $1.key }.reduce(into: JSONObject()) {
                    $0[$1.key] = .strings($1.value)
                })
        }
        if !verify { object["verify"] = false }
        return .object(object)
    }
}

extension Proxy {
    /// The URL with user and password.
    var withCredentials: String {
        guard let username else { return url }
        let user = [username, password].compactMap(\.self).map(Self.encoded).joined(separator: ":")
        return "\(scheme.rawValue)://\(user)@\(host):\(port)"
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
