import ArgumentParser
import Foundation

/// How the service reaches the endpoint of a webhook.
struct EndpointOptions: ParsableArguments {
    @Option(
        name: [.customShort("H"), .long], parsing: .singleValue,
        help: ArgumentHelp(
            "A header of every request; repeatable. Give secrets with --header-file.", valueName: "name: value"))
    var header: [HeaderArgument] = []

    @Option(
        help: ArgumentHelp(
            "A file with one header on each line, 'name: value'; - reads standard input.", valueName: "file"),
        completion: .file())
    var headerFile: String?

    @Option(
        help: ArgumentHelp(
            "A file on the service's machine with the certificates (PEM) to trust instead of the system's.",
            valueName: "path"))
    var endpointCaFile: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A public key that the endpoint may have: base64 of the SHA-256 of its SubjectPublicKeyInfo; repeatable.",
            valueName: "key"))
    var endpointPin: [String] = []

    /// - Parameter address: the URL of the endpoint.
    func members(for address: String) throws(ClientError) -> [(name: String, value: JSONText)] {
        var members: [(name: String, value: JSONText)] = []
        let headers = try header + (headerFile.map { file throws(ClientError) in try Self.headers(in: file) } ?? [])
        if !headers.isEmpty {
            let values = Dictionary(headers.map { ($0.name, $0.value) }) { "\($0), \($1)" }
            members.append(("headers", .object(values.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })))
        }
        if let tls = tls(for: address) { members.append(("tls", tls)) }
        return members
    }

    private func tls(for address: String) -> JSONText? {
        var members: [(name: String, value: JSONText)] = []
        if let endpointCaFile { members.append(("ca_file", .string(endpointCaFile))) }
        if !endpointPin.isEmpty {
            let host = (URLComponents(string: address)?.host ?? "").filter { $0 != "[" && $0 != "]" }
            let keys = JSONText.array(endpointPin.map { .string($0) })
            members.append(("pinned_public_keys", .object([(host, keys)])))
        }
        return members.isEmpty ? nil : .object(members)
    }

    private static func headers(in file: String) throws(ClientError) -> [HeaderArgument] {
        var headers: [HeaderArgument] = []
        for line in String(decoding: try InputFile.bytes(of: file), as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard let header = HeaderArgument(argument: String(line)) else {
                throw ClientError(
                    .refused, "The file has a line that is not a header",
                    "Every line of \(file) must be a header, such as 'Authorization: Bearer 9f2c'.")
            }
            headers.append(header)
        }
        return headers
    }
}
