import HTTPTypes

extension Response {
    /// Whether a response with this status may have a body (RFC 9110, section 6.4.1).
    var mayHaveContent: Bool { status != .noContent && status != .notModified }

    var withoutContent: Response {
        abandon()
        return Response(status: status, headers: headers)
    }
}
