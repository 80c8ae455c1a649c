import HTTPServer

/// Frames of WebSocket clients.
extension FuzzTarget {
    /// The pieces in which frames arrive make no difference. The first byte is the size of the pieces.
    static let webSocket = FuzzTarget("web-socket") { bytes in
        let size = max(1, Int(bytes.first ?? 1) % 16)
        let frames = bytes.dropFirst()
        let (events, fault) = decode(frames, piece: max(1, frames.count))
        let (inPieces, faultInPieces) = decode(frames, piece: size)
        require(events == inPieces && fault == faultInPieces, "the pieces make a difference")
        var total = 0
        for case .text(let text) in events {
            require(text.count <= limit, "a message is too large")
            require(String(validating: text, as: UTF8.self) != nil, "a message is not UTF-8")
            total += text.count
        }
        require(total <= frames.count, "more came out than went in")
    }

    private static let limit = 200

    private static func decode(
        _ bytes: ArraySlice<UInt8>, piece size: Int
    ) -> ([WebSocketDecoder.Event], WebSocketFault?) {
        var decoder = WebSocketDecoder(limit: limit)
        var (events, rest): ([WebSocketDecoder.Event], ArraySlice<UInt8>) = ([], bytes)
        while !rest.isEmpty {
            do throws(WebSocketFault) { try decoder.take(rest.prefix(size), &events) } catch { return (events, error) }
            rest = rest.dropFirst(size)
        }
        return (events, nil)
    }
}
