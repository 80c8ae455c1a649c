import Glibc

/// A DNS query and its responses, in the format of RFC 1035, section 4.
struct NameQuery {
    /// In lower case, without the final dot.
    let name: String
    private let identifier: ArraySlice<UInt8>
    /// As received; a response repeats it.
    private let question: ArraySlice<UInt8>
    /// True for IPv4 (A), false for IPv6 (AAAA).
    private let wantsIPv4: Bool

    private static let headerBytes = 12

    init?(_ message: [UInt8]) {
        guard message.count > Self.headerBytes else { return nil }
        var (labels, position): ([String], Int) = ([], Self.headerBytes)
        while position < message.count, message[position] > 0 {
            let end = position + 1 + Int(message[position])
            guard end < message.count else { return nil }
            labels.append(String(decoding: message[(position + 1)..<end], as: UTF8.self).lowercased())
            position = end
        }
        // The empty label, the type and the class.
        guard position + 5 <= message.count else { return nil }
        name = labels.joined(separator: ".")
        identifier = message.prefix(2)
        question = message[Self.headerBytes..<(position + 5)]
        wantsIPv4 = message[position + 2] == 1
    }

    /// The response that the name does not exist (NXDOMAIN).
    var denial: [UInt8] { header(code: 3, answers: 0) + question }

    func answer(_ addresses: [String]) -> [UInt8] {
        let records = wantsIPv4 ? addresses.map(record) : []
        return header(code: 0, answers: UInt8(records.count)) + question + records.joined()
    }

    /// A response, with recursion as desired and available.
    private func header(code: UInt8, answers: UInt8) -> [UInt8] {
        identifier + [0x81, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0]
    }

    /// A record for the name in the query, of type A and class IN, valid for a minute.
    private func record(_ address: String) -> [UInt8] {
        let bytes = withUnsafeBytes(of: inet_addr(address), Array.init)
        return [0xC0, UInt8(Self.headerBytes), 0, 1, 0, 1, 0, 0, 0, 60, 0, 4] + bytes
    }
}
