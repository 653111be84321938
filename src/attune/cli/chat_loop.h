#pragma once

#include "attune/cli/command.h"
#include "attune/tasks/chat.h"

namespace attune {

/// Says every line of standard input to the model and shows its answers as they are written, until the input ends or a
/// line says /quit. After a fault of a message it goes on; without a terminal it then returns 1 at the end. People at a
/// terminal may go on after Ctrl-C, too, which stops an answer.
int converse(Conversation& conversation, const Session& session);

/// Shows a piece of an answer at once. Throws Error where standard output refuses it.
void show_piece(std::string_view piece);
/// Says why an answer ended, where the model did not end it.
void tell_ending(const Conversation& conversation, const GeneratedText& answer);

}  // namespace attune
