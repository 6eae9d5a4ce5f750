// The font of code seldom has braille. Another font's is wider or narrower, and shifts the columns of a plot.
// So each such character gets the width of a column.
document.fonts.ready.then(() => {
    const canvas = document.createElement("canvas").getContext("2d");

    // A text as runs of characters that need the same extra space.
    const runs = (text, column) => {
        const found = [];
        for (const character of text) {
            const width = character < "\x80" ? column : canvas.measureText(character).width;
            const extra = (column - width).toFixed(2);
            const last = found[found.length - 1];
            if (last && last.extra === extra) {
                last.text += character;
            } else {
                found.push({ extra, text: character });
            }
        }
        return found;
    };

    for (const code of document.querySelectorAll("pre code")) {
        const style = getComputedStyle(code);
        canvas.font = `${style.fontSize} ${style.fontFamily}`;
        const column = canvas.measureText("0").width;
        const texts = [];
        const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            texts.push(walker.currentNode);
        }
        for (const text of texts.filter((text) => /[^\x00-\x7f]/.test(text.data))) {
            text.replaceWith(...runs(text.data, column).map((run) => {
                const span = document.createElement("span");
                span.style.letterSpacing = `${run.extra}px`;
                span.textContent = run.text;
                return span;
            }));
        }
    }
});
