import Downloads
import HTTPSemantics

/// The headers of the requests: the options `header`, `user-agent` and `referer`.
extension DownloadOptions {
    /// As in aria2, a line of `header` counts more than `user-agent` and `referer`.
    func headers(replacing present: [HeaderField], url: String) throws(RPCError) -> [HeaderField] {
        let lines = try lines(url)
        let others = ownFields(url).filter { other in !lines.contains { $0.hasName(of: other) } }
        var fields = has(.header) ? present.filter { Self.hasOwnOption($0) } : present
        for field in lines + others {
            fields.removeAll { $0.hasName(of: field) }
            fields.append(field)
        }
        guard fields.count <= 64 else { throw problem(.header, "A download has at most 64 headers.") }
        for field in fields {
            if let fault = field.fault { throw problem(.header, "\(field.name) \(fault).") }
        }
        return fields
    }

    /// The lines of `header`. Lines of one name become one field (RFC 9110, section 5.3; RFC 6265, section 5.4).
    private func lines(_ url: String) throws(RPCError) -> [HeaderField] {
        var fields: [HeaderField] = []
        for line in texts(.header) where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else { throw problem(.header, "It takes NAME: VALUE.") }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let field = HeaderField(name: String(line[..<colon]), value: String(value))
            if field.isOfConnection(to: url) { continue }
            if let index = fields.firstIndex(where: { $0.hasName(of: field) }) {
                fields[index].value += (field.name.lowercased() == "cookie" ? "; " : ", ") + field.value
            } else {
                fields.append(field)
            }
        }
        return fields
    }

    private func ownFields(_ url: String) -> [HeaderField] {
        var fields: [HeaderField] = []
        if let agent = text(.userAgent), !agent.isEmpty { fields.append(HeaderField(name: "User-Agent", value: agent)) }
        if let referer = text(.referer), !referer.isEmpty {
            let value = referer == "*" ? URLRule.withoutCredentials(url) : referer
            fields.append(HeaderField(name: "Referer", value: value))
        }
        return fields
    }

    /// Whether another option than `header` sets the field.
    static func hasOwnOption(_ field: HeaderField) -> Bool {
        ["user-agent", "referer"].contains(field.name.lowercased())
    }
}

extension HeaderField {
    fileprivate func hasName(of other: HeaderField) -> Bool { name.lowercased() == other.name.lowercased() }

    /// Whether the field says only what fetchd itself says with its own fields. Browser extensions send all fields of the
    /// browser's request, and these among them.
    ///
    /// A `Host` of another server and a `Range` of a part are not such fields: they ask for another file.
    fileprivate func isOfConnection(to url: String) -> Bool {
        switch name.lowercased() {
        case "connection", "keep-alive", "proxy-connection", "te", "upgrade", "accept-encoding": true
        case "host": URLRule.hostAndPort(of: "\(url.prefix { $0 != ":" })://\(value)/") == URLRule.hostAndPort(of: url)
        case "range": value == "bytes=0-"
        default: false
        }
    }
}
